import { idAt, keyAt, type Run } from './runs.ts';
import { Saturated } from './saturated.ts';

/** So many refusals for one completion: 10 times overload would be 10, and a flood is worse. */
const PER_COMPLETION = 1000;

/** Refuses deliveries while the intake sheds, each of which books its own second. */
export function refuse(): Run {
  const saturated = new Saturated();
  const { intake } = saturated;
  return async (count) => {
    for (let i = 0; i < count; i += 1) {
      if (i % PER_COMPLETION === 0) {
        await saturated.complete();
        await saturated.complete();
      }
      if (intake.admit({ key: keyAt(i), id: idAt(i) }).admitted) throw new Error('It was admitted.');
    }
  };
}
