import { showDialog } from './dialogs.ts';
import { button, h, newId } from './dom.ts';

/** A rate as it was typed. */
interface TypedRate {
  readonly perSecond: number | string;
}

/** Asks for another rate of an endpoint. Resolves to null for that of its settings, and to undefined if nothing is chosen. */
export async function askRate(endpoint: string, inForce: number): Promise<TypedRate | null | undefined> {
  let chosen: TypedRate | null | undefined;
  const id = newId();
  const input = h('input', { id, inputmode: 'decimal', autocomplete: 'off', value: String(inForce) });
  const choose = (rate: TypedRate | null) => (): void => {
    chosen = rate;
    dialog.close();
  };
  const content = [
    h(
      'p',
      {},
      `Endpoint: ${endpoint}. The rate applies in this process, until it is set again or the process ends.`,
    ),
    h('div', { class: 'field' }, h('label', { for: id }, 'Requests per second'), input),
  ];
  const { dialog, closed } = showDialog(
    'Change the rate?',
    content,
    [
      button('Cancel', () => {
        dialog.close();
      }),
      button('Use the settings', choose(null)),
      button(
        'Apply',
        () => {
          choose({ perSecond: numberIn(input.value) })();
        },
        'primary',
      ),
    ],
    'narrow',
  );
  input.focus();
  await closed;
  return chosen;
}

/** Text that is no number is sent as it is, so that the library says what is wrong. */
function numberIn(text: string): number | string {
  const number = Number(text);
  return text.trim() === '' || Number.isNaN(number) ? text : number;
}
