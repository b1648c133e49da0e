import { changesOf, draftOf, fieldOf, modeOf, RANGED, shedKeys, type Draft } from '../data/lever-values.ts';
import { isReceiverAlone, isWorkerAlone, optionsOf, type Options, type Source } from '../data/wire.ts';
import { button, card, h, setText } from '../parts/dom.ts';
import { leverField, modeField, type LeverField } from '../parts/lever-field.ts';
import { problemOf, problemText } from '../parts/problem.ts';
import type { Page, Section } from '../parts/section.ts';
import { chipList } from '../parts/chip-list.ts';

/** The labels and units of the parts of an option that adapts. */
const PARTS: Readonly<Record<string, readonly [label: string, unit: string]>> = {
  initial: ['Initial', ''],
  min: ['Min', ''],
  max: ['Max', ''],
  targetP99Ms: ['Target p99', 'ms'],
};

/** Options that may be absent, with their largest values. */
const UNLIMITED: ReadonlyMap<string, string> = new Map([
  ['maxStartsPerSecond', '1000000'],
  ['maxWaitMs', '86400000'],
]);

/** The options that can be changed while the process runs. */
export function leverSection(page: Page, kind: Source['kind']): Section {
  let source: Source | undefined;
  let inForce: Options = {};
  const fields = new Map<string, LeverField>();
  const modes = new Map<string, HTMLSelectElement>();
  const notice = h('p', { class: 'notice', role: 'status' });
  const general = h('p', { class: 'problem', role: 'alert' });

  const add = (name: string, label: string, unit: string): HTMLElement => {
    const field = leverField(label, unit, onEdit, UNLIMITED.has(name) ? 'no limit' : '');
    fields.set(name, field);
    return field.element;
  };
  const addRanged = (name: string, title: string, label: string, unit: string): HTMLElement => {
    const { element, select } = modeField(onEdit);
    modes.set(name, select);
    const parts = RANGED.find((ranged) => ranged.name === name)?.parts ?? [];
    return h(
      'fieldset',
      { class: 'ranged' },
      h('legend', {}, title),
      h(
        'div',
        { class: 'fields' },
        element,
        add(name, label, unit),
        ...parts.map((part) => add(`${name}.${part}`, ...(PARTS[part] ?? ([part, ''] as const)))),
      ),
    );
  };

  const longestWait = add('maxWaitMs', 'Longest wait', 'ms');
  const ofWorkers = [
    addRanged('concurrency', 'Concurrency', 'Workers', ''),
    addRanged('maxStartsPerSecond', 'Start rate', 'Starts', 'per s'),
  ];
  const form = h(
    'form',
    { novalidate: true, 'aria-label': 'Change options' },
    h(
      'div',
      { class: 'fields' },
      add('capacity', 'Capacity', 'deliveries'),
      kind === 'inbox' ? add('maxBytes', 'Stored bytes, at most', '') : null,
      add('highWaterMark', 'High-water mark', '0 to 1'),
      add('lowWaterMark', 'Low-water mark', '0 to 1'),
      longestWait,
    ),
    ...ofWorkers,
  );
  const apply = h('button', { type: 'submit', class: 'button primary' }, 'Apply');
  const reset = button('Reset', () => {
    clearProblems();
    setText(notice, '');
    fill(draftOf(inForce), true);
    onEdit();
  });
  const pending = h('span', { class: 'note' });
  form.append(general, h('div', { class: 'actions' }, apply, reset, pending), notice);
  const shed = chipList(
    'Keys whose deliveries are all refused',
    'Refuse all deliveries of a key',
    (key, isAdded) => change({ shed: { [key]: isAdded } }),
  );

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const changes = changesOf(inForce, draft());
    clearProblems();
    setText(notice, '');
    if (refuseEmptied()) return;
    if (Object.keys(changes).length === 0) setText(notice, 'No value was changed.');
    else void change(changes);
  });

  /** An update can replace a value, but not remove it. */
  function refuseEmptied(): boolean {
    const before = draftOf(inForce);
    let isAny = false;
    for (const [path, field] of fields) {
      const isEmptied = field.isEdited && field.input.value.trim() === '' && before[path] !== '';
      if (!isEmptied || field.element.hidden) continue;
      isAny = true;
      const largest = UNLIMITED.get(path);
      const hint =
        largest === undefined
          ? 'Fill in a value.'
          : `A limit cannot be removed while the process runs. The largest is ${largest}.`;
      field.showProblem([document.createTextNode(hint)]);
    }
    return isAny;
  }

  async function change(changes: Options): Promise<void> {
    if (source === undefined) return;
    clearProblems();
    setText(notice, '');
    apply.disabled = true;
    try {
      const options = await page.client.update(source, changes);
      for (const [path, field] of fields) if (isIn(changes, path)) field.isEdited = false;
      for (const [name, select] of modes) if (isIn(changes, name)) delete select.dataset['edited'];
      page.showOptions(source, options);
      setText(notice, `Applied: ${Object.keys(changes).join(', ')}.`);
    } catch (error) {
      const problem = problemOf(error);
      const name = fieldOf(problem.code, problem.option);
      if (name === 'shed') shed.showProblem(problemText(problem));
      else showProblem(name, problemText(problem));
    } finally {
      apply.disabled = false;
    }
  }

  function showProblem(name: string | undefined, text: readonly Node[]): void {
    const isAdaptive = name !== undefined && modes.get(name)?.value === 'adaptive';
    const at = isAdaptive ? RANGED.find((ranged) => ranged.name === name)?.parts[0] : undefined;
    const field = fields.get(at === undefined ? (name ?? '') : `${name ?? ''}.${at}`);
    if (field === undefined) general.replaceChildren(...text);
    else field.showProblem(text);
  }

  function clearProblems(): void {
    general.replaceChildren();
    shed.showProblem([]);
    for (const field of fields.values()) field.showProblem([]);
  }

  function draft(): Draft {
    const values: Record<string, string> = {};
    for (const [name, { input }] of fields) values[name] = input.value;
    for (const [name, select] of modes) values[modeOf(name)] = select.value;
    return values;
  }

  /** Fields that are being edited keep their text when someone else changes the option. */
  function fill(values: Draft, isReset: boolean): void {
    for (const [name, select] of modes) {
      const isEdited = [...fields].some(([path, field]) => path.split('.')[0] === name && field.isEdited);
      if (isReset || (!isEdited && select.dataset['edited'] !== 'true')) {
        select.value = values[modeOf(name)] ?? 'fixed';
        delete select.dataset['edited'];
      }
    }
    for (const [name, field] of fields) field.follow(values[name] ?? '', isReset);
    showModes();
  }

  function showModes(): void {
    for (const [name, select] of modes) {
      for (const [path, field] of fields) {
        if (path === name) field.element.hidden = select.value === 'adaptive';
        else if (path.startsWith(`${name}.`)) field.element.hidden = select.value !== 'adaptive';
      }
    }
  }

  function onEdit(): void {
    showModes();
    showPending();
  }

  function showPending(): void {
    const names = Object.keys(changesOf(inForce, draft()));
    setText(pending, names.length === 0 ? '' : `Not applied yet: ${names.join(', ')}`);
  }

  const element = card('Change options', form, h('hr'), shed.element);
  return {
    element,
    update(latest): void {
      source = latest;
      const options = optionsOf(latest);
      const isClosed = latest.view.snapshot.state === 'closed';
      apply.disabled = isClosed;
      // An update with an option of the other role is refused.
      for (const element of ofWorkers) element.hidden = isReceiverAlone(latest);
      longestWait.hidden = shed.element.hidden = isWorkerAlone(latest);
      inForce = options;
      fill(draftOf(options), false);
      showPending();
      shed.show(shedKeys(options));
    },
  };
}

/** Whether a field belongs to one of the options. */
function isIn(changes: Options, path: string): boolean {
  return Object.hasOwn(changes, path.split('.')[0] ?? '');
}
