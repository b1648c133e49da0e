import { button, h, newId } from './dom.ts';

/** A list of names, to which a name can be added and from which each can be removed. */
export function chipList(
  title: string,
  addLabel: string,
  onChange: (name: string, isAdded: boolean) => Promise<void>,
): {
  readonly element: HTMLElement;
  show(names: readonly string[]): void;
  showProblem(text: readonly Node[]): void;
} {
  const id = newId();
  const list = h('ul', { class: 'chips', 'aria-label': title });
  const input = h('input', { id, autocomplete: 'off', spellcheck: 'false' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const form = h(
    'form',
    { class: 'add' },
    h('label', { for: id }, addLabel),
    h('div', { class: 'joined' }, input, h('button', { type: 'submit', class: 'button' }, 'Refuse')),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (input.value === '') return;
    const name = input.value;
    input.value = '';
    void onChange(name, true);
  });
  let shown = '';
  return {
    element: h('div', { class: 'chip-list' }, h('h3', {}, title), list, form, problem),
    show(names): void {
      const joined = JSON.stringify(names);
      if (joined === shown) return;
      shown = joined;
      list.replaceChildren(
        ...(names.length === 0 ? [h('li', { class: 'note' }, 'none')] : []),
        ...names.map((name) => {
          const remove = button('Admit again', () => onChange(name, false), 'small');
          remove.setAttribute('aria-label', `Admit ${name} again`);
          return h('li', { class: 'chip' }, h('span', { class: 'cut', title: name }, name), remove);
        }),
      );
    },
    showProblem(text): void {
      problem.replaceChildren(...text);
    },
  };
}
