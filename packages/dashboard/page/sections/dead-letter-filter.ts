import type { DeadLetterFilter } from '../data/wire.ts';
import { h, newId } from '../parts/dom.ts';

const FIELDS = [
  ['sender', 'Sender'],
  ['error', 'Error contains'],
  ['text', 'Body contains'],
] as const;

/** A row of fields that choose dead letters. @param changed - called when other ones are chosen. */
export function deadLetterFilter(changed: () => unknown): {
  readonly element: HTMLElement;
  /** The fields that have a value; undefined when none has. */
  readonly filter: () => DeadLetterFilter | undefined;
} {
  let chosen: DeadLetterFilter | undefined;
  const inputs = FIELDS.map(([field, label]) => {
    const id = newId();
    const input = h('input', { id, type: 'search', autocomplete: 'off', spellcheck: 'false' });
    return {
      field,
      input,
      element: h('div', { class: 'field' }, h('label', { for: id }, label), input),
    };
  });
  const element = h('form', { class: 'filter', role: 'search', 'aria-label': 'Dead letters' });
  // The Enter key works in a form of several fields only if it has such a button.
  const apply = h('button', { type: 'submit', class: 'button plain' }, 'Filter');
  element.append(...inputs.map((one) => one.element), apply);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = inputs.filter(({ input }) => input.value !== '');
    chosen =
      given.length === 0
        ? undefined
        : Object.fromEntries(given.map(({ field, input }) => [field, input.value]));
    void changed();
  });
  return { element, filter: () => chosen };
}
