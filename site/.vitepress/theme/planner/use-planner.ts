/// <reference lib="dom" />
import { onBeforeUnmount, onMounted, reactive, type Ref, ref } from 'vue';
import { commandOf, type Form, formOf, searchOf, textsOf } from './form.ts';
import type { Answer, Report } from './plan-worker.ts';

/** The anchor of the heading above the form. */
const ANCHOR = '#plan-for-a-burst';

/** The state of the component. */
interface Planner {
  readonly form: Form;
  /** The names of all senders, once the worker has started. */
  readonly names: Ref<readonly string[]>;
  readonly error: Ref<string>;
  /** How many configurations are simulated so far; undefined while none is. */
  readonly simulated: Ref<number | undefined>;
  /** A table in HTML. */
  readonly figures: Ref<string>;
  /** While another plan is computed, that before. */
  readonly answer: Ref<Answer | undefined>;
  /** The command that prints the plan. */
  readonly command: Ref<string>;
  /** Plans the scenario of the form, and puts it into the address. A running computation ends. */
  readonly planForm: () => void;
}

/**
 * Plans in a worker, since a plan takes seconds, once the element is visible.
 *
 * @param element - of the component
 */
export function usePlanner(element: Ref<Element | null>): Planner {
  const form = reactive(formOf(''));
  const names = ref<readonly string[]>([]);
  const [error, figures, command] = [ref(''), ref(''), ref('')];
  const answer = ref<Answer>();
  const simulated = ref<number>();
  let worker: Worker | undefined;

  function end(message: string): void {
    error.value = message;
    figures.value = '';
    answer.value = undefined;
    simulated.value = undefined;
  }

  function listen({ data }: MessageEvent<Report>): void {
    if (data.kind === 'senders') {
      names.value = data.names;
    } else if (data.kind === 'error') {
      end(data.error);
    } else if (data.kind === 'outcome') {
      figures.value = data.figures;
      simulated.value = data.simulated;
    } else {
      figures.value = data.answer.figures;
      answer.value = data.answer;
      simulated.value = undefined;
    }
  }

  function start(): void {
    const texts = textsOf(form);
    if (simulated.value !== undefined) {
      worker?.terminate();
      worker = undefined;
    }
    worker ??= created();
    command.value = commandOf(texts);
    error.value = '';
    simulated.value = 0;
    worker.postMessage(texts);
  }

  function created(): Worker {
    const started = new Worker(new URL('./plan-worker.ts', import.meta.url), { type: 'module' });
    started.addEventListener('message', listen);
    started.addEventListener('error', () => {
      end('The planner cannot be loaded.');
      worker = undefined;
    });
    return started;
  }

  function planForm(): void {
    const search = searchOf(textsOf(form));
    // The key Enter changes a field and submits the form.
    if (search === location.search && error.value === '') return;
    history.replaceState(history.state, '', `${search}${ANCHOR}`);
    start();
  }

  let observer: IntersectionObserver | undefined;
  onMounted(() => {
    Object.assign(form, formOf(location.search));
    // A reader who does not scroll here needs no plan.
    observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer?.disconnect();
      start();
    });
    if (element.value !== null) observer.observe(element.value);
  });
  onBeforeUnmount(() => {
    observer?.disconnect();
    worker?.terminate();
  });
  return { form, names, error, simulated, figures, answer, command, planForm };
}
