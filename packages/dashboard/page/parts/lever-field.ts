import { h, newId, setText } from './dom.ts';

export interface LeverField {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  isEdited: boolean;
  /** Shows the value in force, in the field unless it is being edited. */
  follow(text: string, isReset: boolean): void;
  /** Shows an error below the field; none clears it. */
  showProblem(text: readonly Node[]): void;
}

/** A field of text, although most options are numbers: the library itself then says what is wrong with another value. */
export function leverField(label: string, unit: string, onEdit: () => void, placeholder = ''): LeverField {
  const id = newId();
  const input = h('input', {
    id,
    inputmode: 'decimal',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder,
  });
  const hint = h('span', { class: 'hint', id: `${id}h` });
  const problem = h('p', { class: 'problem', id: `${id}p`, role: 'alert' });
  input.setAttribute('aria-describedby', `${id}h ${id}p`);
  const field: LeverField = {
    element: h(
      'div',
      { class: 'field' },
      h('label', { for: id }, label, ' ', h('span', { class: 'note' }, unit)),
      input,
      hint,
      problem,
    ),
    input,
    isEdited: false,
    follow(text, isReset): void {
      if (isReset) field.isEdited = false;
      if (!field.isEdited && input.value !== text) input.value = text;
      const isOther = field.isEdited && input.value.trim() !== text;
      setText(hint, isOther ? `now: ${text === '' ? 'none' : text}` : '');
      field.element.classList.toggle('is-edited', isOther);
    },
    showProblem(text): void {
      problem.replaceChildren(...text);
      if (text.length > 0) input.setAttribute('aria-invalid', 'true');
      else input.removeAttribute('aria-invalid');
    },
  };
  input.addEventListener('input', () => {
    field.isEdited = true;
    onEdit();
  });
  return field;
}

/** A choice between one value and a range to adapt in. */
export function modeField(onEdit: () => void): { element: HTMLElement; select: HTMLSelectElement } {
  const id = newId();
  const select = h(
    'select',
    { id },
    h('option', { value: 'fixed' }, 'Fixed'),
    h('option', { value: 'adaptive' }, 'Adaptive'),
  );
  select.addEventListener('change', () => {
    select.dataset['edited'] = 'true';
    onEdit();
  });
  return { element: h('div', { class: 'field' }, h('label', { for: id }, 'Kind'), select), select };
}
