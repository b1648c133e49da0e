import { bytes, count, duration, exact, rate } from '../data/format.ts';
import { sizing } from '../data/sizing.ts';
import { optionsOf, snapshotOf } from '../data/wire.ts';
import { card, h, newId, setText } from '../parts/dom.ts';
import type { Section } from '../parts/section.ts';

const BYTES_PER_DELIVERY = 1024;

/** The capacity for a longest wait and a drain rate, and what a burst does to it. */
export function whatIfSection(): Section {
  const wait = numberField('Longest wait', 's');
  const drain = numberField('Drain rate', 'per s');
  const size = numberField('Bytes per delivery', '');
  const burst = numberField('Burst rate', 'per s');
  const burstLength = numberField('Burst length', 's');
  const fields = [wait, drain, burst, burstLength, size];
  const formula = h('output', { class: 'formula' });
  const effect = h('p', { class: 'what-if-effect', 'aria-live': 'polite' });
  const live = h('p', { class: 'note' });

  const calculate = (): void => {
    const result = sizing({
      waitSeconds: wait.value(),
      drainRate: drain.value(),
      bytesPerDelivery: size.value(),
      burstRate: burst.value(),
      burstSeconds: burstLength.value(),
    });
    if (result === undefined) {
      setText(formula, 'Fill in a wait and a drain rate above 0.');
      setText(effect, '');
      return;
    }
    const { capacity, memoryBytes, fullAfterSeconds, refused, drainedAfterSeconds } = result;
    setText(
      formula,
      `capacity = ${exact(wait.value())} s × ${exact(drain.value())}/s = ${count(capacity)} (${bytes(memoryBytes)})`,
    );
    const drained = duration(drainedAfterSeconds * 1000);
    if (fullAfterSeconds === null) {
      setText(effect, `The burst fits: nothing is refused, and the queue is empty ${drained} after it.`);
    } else {
      const full = duration(fullAfterSeconds * 1000);
      setText(
        effect,
        `The burst fills the queue after ${full}. ${count(refused)} deliveries are refused and retry; the queue is empty ${drained} after the burst.`,
      );
    }
  };
  for (const field of fields) field.input.addEventListener('input', calculate);

  const follow = (field: NumberField, value: number): boolean => {
    if (field.isEdited() || !Number.isFinite(value)) return false;
    const text = String(value >= 100 ? Math.round(value) : Number(value.toPrecision(3)));
    if (field.input.value === text) return false;
    field.input.value = text;
    return true;
  };

  return {
    element: card(
      'Estimate a change',
      h(
        'p',
        { class: 'note' },
        'capacity = longest acceptable wait × drain rate. Try any values: no option is changed here.',
      ),
      h('div', { class: 'fields' }, ...fields.map(({ element }) => element)),
      formula,
      effect,
      live,
    ),
    update(source): void {
      const { drainRate, effectiveCapacity, capacity } = snapshotOf(source);
      const { maxWaitMs } = optionsOf(source);
      // Without a limit, an inbox has as long as its capacity takes to drain.
      const waitSeconds = typeof maxWaitMs === 'number' ? maxWaitMs / 1000 : capacity / (drainRate ?? 1);
      const changed = [
        drainRate !== null && follow(drain, drainRate),
        follow(wait, waitSeconds),
        follow(size, BYTES_PER_DELIVERY),
        follow(burst, Math.max(1, Math.round((drainRate ?? 10) * 5))),
        follow(burstLength, 10),
      ];
      if (changed.includes(true)) calculate();
      setText(
        live,
        `Now: capacity ${count(capacity)}, effective capacity ${count(effectiveCapacity)}, drain rate ${rate(drainRate)}.`,
      );
    },
  };
}

interface NumberField {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  readonly value: () => number;
  readonly isEdited: () => boolean;
}

/** A field that follows the live value until it is edited; when it is emptied, it follows again. */
function numberField(label: string, unit: string): NumberField {
  const id = newId();
  let isEdited = false;
  const input = h('input', { id, inputmode: 'decimal', autocomplete: 'off' });
  input.addEventListener('input', () => {
    isEdited = input.value.trim() !== '';
  });
  return {
    element: h(
      'div',
      { class: 'field' },
      h('label', { for: id }, label, ' ', h('span', { class: 'note' }, unit)),
      input,
    ),
    input,
    value: () => (input.value.trim() === '' ? NaN : Number(input.value)),
    isEdited: () => isEdited,
  };
}
