import type { Actlog } from '@actlog/client';
import { Recorder } from '@actlog/recorder';
import { ProgressLine } from '../output/progress-line.ts';
import { Interruption } from '../terminal/interruption.ts';

/** Options of {@link flushSpool}. */
export interface FlushSpoolOptions {
  readonly client: Actlog;
  readonly spoolDir: string | undefined;
  readonly tenant: string | undefined;
  readonly timeoutMs: number;
  /** Number of events that wait, for the progress. */
  readonly total: number;
}

/** Result of a delivery. */
export interface FlushOutcome {
  readonly delivered: number;
  readonly deadLettered: number;
  /** Reasons why events stay, without repetitions. */
  readonly errors: readonly string[];
}

/** Time between two looks at the progress, in milliseconds. */
const roundMs = 500;
/** Number of rounds without progress after an error, after which the rest stays. */
const maxIdleRounds = 4;

/**
 * Delivers the events of ended processes with a recorder of its own: it takes over their journals as an agent's recorder
 * does, so several may run at once.
 *
 * @throws InterruptedError when the user interrupts it; what is not delivered stays
 */
export async function flushSpool(options: FlushSpoolOptions): Promise<FlushOutcome> {
  const { client, spoolDir, tenant, total } = options;
  const errors = new Set<string>();
  const onError = ({ message }: Error) => void errors.add(message);
  const recorder = new Recorder({ client, spoolDir, tenant, agentId: 'actlog-spool', onError, onDrop() {} });
  const progress = new ProgressLine();
  const interruption = new Interruption();
  try {
    const show = (delivered: number) => progress.show(`Delivered ${delivered} of ${total} events`);
    await waitForDelivery(recorder, {
      endMs: performance.now() + options.timeoutMs,
      interruption,
      errors,
      show,
    });
  } finally {
    progress.clear();
    interruption.close();
  }
  const { delivered, deadLettered } = await recorder.close({ timeoutMs: 0 });
  interruption.check(`Delivered ${delivered} of ${total} events; the others stay.`);
  return { delivered, deadLettered, errors: [...errors] };
}

interface DeliveryWait {
  readonly endMs: number;
  readonly interruption: Interruption;
  readonly errors: ReadonlySet<string>;
  readonly show: (delivered: number) => void;
}

/** Waits until nothing is pending, the time is over, the user interrupts it, or errors stop the delivery. */
async function waitForDelivery(recorder: Recorder, options: DeliveryWait): Promise<void> {
  const { endMs, interruption, errors, show } = options;
  let handled = 0;
  for (let idleRounds = 0; idleRounds < maxIdleRounds; ) {
    const leftMs = endMs - performance.now();
    const timeoutMs = Math.max(0, Math.min(roundMs, leftMs));
    const { pending, delivered, deadLettered } = await recorder.flush({ timeoutMs });
    show(delivered);
    if (pending === 0 || leftMs <= 0 || interruption.signal.aborted) return;
    const hasProgress = delivered + deadLettered > handled;
    handled = delivered + deadLettered;
    idleRounds = hasProgress || errors.size === 0 ? 0 : idleRounds + 1;
  }
}
