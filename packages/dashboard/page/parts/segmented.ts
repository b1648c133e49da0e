import { h, newId } from './dom.ts';

/** A choice of one of a few, as radio buttons in a row. */
export function segmented<T extends string>(
  label: string,
  choices: readonly (readonly [value: T, text: string])[],
  chosen: T,
  onChange: (value: T) => void,
): HTMLElement {
  const name = newId();
  return h(
    'fieldset',
    { class: 'segmented' },
    h('legend', { class: 'hidden' }, label),
    ...choices.map(([value, text]) => {
      const input = h('input', { type: 'radio', name, value });
      input.checked = value === chosen;
      input.addEventListener('change', () => {
        onChange(value);
      });
      return h('label', {}, input, h('span', {}, text));
    }),
  );
}
