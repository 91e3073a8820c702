import { RunDenials } from '@actlog/recorder/adapter';
import type { CallPlace } from './open-calls.ts';

/** Maximum number of runs to remember, because their end is not always reported. */
const maxRuns = 1000;

/** Denials of the runs of a query: of each session's main thread, and of each of its subagents. */
export class DeniedRuns {
  readonly #runs = new Map<string, RunDenials>();

  /** Returns the denials of a run; undefined if there were none. */
  find(place: CallPlace): RunDenials | undefined {
    return this.#runs.get(keyOf(place));
  }

  /** Returns the denials of a run, creating them if necessary. */
  of(place: CallPlace): RunDenials {
    const key = keyOf(place);
    const known = this.#runs.get(key);
    if (known) return known;
    const denials = new RunDenials();
    this.#runs.set(key, denials);
    if (this.#runs.size > maxRuns) this.#runs.delete(this.#runs.keys().next().value as string);
    return denials;
  }

  /** Forgets a run that has ended, or whose user has sent a new prompt. */
  forget(place: CallPlace): void {
    this.#runs.delete(keyOf(place));
  }
}

function keyOf({ session_id, agent_id = '' }: CallPlace): string {
  return `${session_id} ${agent_id}`;
}
