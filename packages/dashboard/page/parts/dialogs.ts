import { button, h, newId, type Child } from './dom.ts';
import type { Question } from './section.ts';

/** A modal dialog, which Escape closes too. Resolves when it is closed. */
export function showDialog(
  title: string,
  content: readonly Child[],
  actions: readonly HTMLButtonElement[],
  look = '',
): { readonly dialog: HTMLDialogElement; readonly closed: Promise<void> } {
  const id = newId();
  const dialog = h(
    'dialog',
    { 'aria-labelledby': id, class: look },
    h('h2', { id }, title),
    ...content,
    h('div', { class: 'actions' }, ...actions),
  );
  document.body.append(dialog);
  const closed = new Promise<void>((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve();
    });
  });
  dialog.showModal();
  return { dialog, closed };
}

/** Asks, with the focus on the answer that changes nothing. */
export async function confirm({ title, text, action, isDangerous = false }: Question): Promise<boolean> {
  let isConfirmed = false;
  const cancel = button('Cancel', () => {
    dialog.close();
  });
  const proceed = button(
    action,
    () => {
      isConfirmed = true;
      dialog.close();
    },
    isDangerous ? 'danger' : 'primary',
  );
  const { dialog, closed } = showDialog(title, [h('p', {}, text)], [cancel, proceed], 'narrow');
  cancel.focus();
  await closed;
  return isConfirmed;
}
