import { bytes, count, moment } from '../data/format.ts';
import type { WholeDeadLetter } from '../data/wire.ts';
import { showDialog } from '../parts/dialogs.ts';
import { button, h } from '../parts/dom.ts';

/** Shows a dead letter with its headers and the beginning of its body, as text. */
export function showDeadLetter(letter: WholeDeadLetter): void {
  const { key, id, sender, attempts, error, reason, deadAt, receivedAt, method, url, body, headers } = letter;
  const facts: readonly (readonly [string, string])[] = [
    ['Key', key],
    ['Id', id],
    ['Sender', sender ?? 'unknown'],
    ['Request', `${method} ${url}`.trim()],
    ['Received', moment(receivedAt)],
    ['Dead since', moment(deadAt)],
    ['Attempts', count(attempts)],
    ['Reason', reason === 'overflow' ? 'The inbox was too full' : error],
  ];
  const close = button('Close', () => {
    dialog.close();
  });
  const { dialog } = showDialog(
    'Dead letter',
    [
      h(
        'dl',
        { class: 'facts wrap' },
        ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      ),
      h('h3', {}, `Body, ${bytes(letter.bodyBytes)}${letter.isCut ? ' (only its beginning is shown)' : ''}`),
      h('pre', { tabindex: '0' }, body === '' ? '(empty)' : body),
      h('h3', {}, 'Headers'),
      h(
        'dl',
        { class: 'facts wrap mono' },
        ...Object.entries(headers).flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
      ),
    ],
    [close],
  );
  // A long error would be scrolled to its end.
  close.focus({ preventScroll: true });
  dialog.scrollTop = 0;
}
