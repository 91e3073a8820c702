import {
  defaultResponseStatus,
  isResponseStatus,
  type ResponseStatusMapping,
  responseStatuses,
  type ToolOutcome,
  unreadableStatus,
} from '@actlog/tool-call';

import type { ToolCall } from '../events/tool-call.ts';
import { ActionDeniedError } from '../guard/action-denied-error.ts';
import { ignoreRejection } from '../lib/ignore-rejection.ts';
import type { Reporter } from '../reporting/reporter.ts';

/** Finds the status of a call's outcome: by the call's own mapping, the recorder's, and the table of the README. */
export class CallStatus {
  readonly #mapping: ResponseStatusMapping | undefined;
  readonly #reporter: Reporter;

  /** @param mapping - the recorder's mapping */
  constructor(mapping: ResponseStatusMapping | undefined, reporter: Reporter) {
    this.#mapping = mapping;
    this.#reporter = reporter;
  }

  /** Returns the status; `null` if the call is not recorded. Never throws. */
  of(call: ToolCall, outcome: ToolOutcome): number | null {
    try {
      return this.#mapped(call, outcome);
    } catch {
      return unreadableStatus(outcome); // a getter of the call threw
    }
  }

  #mapped(call: ToolCall, outcome: ToolOutcome): number | null {
    for (const mapping of [call.responseStatusOf, this.#mapping]) {
      try {
        const status: unknown = mapping?.(outcome);
        if (status === null || isResponseStatus(status)) return status;
        if (status !== undefined) this.#mappingFailed(status);
      } catch (error) {
        this.#reporter.failed('mapping', new Error('A status mapping threw.', { cause: error }));
      }
    }
    return defaultResponseStatus(outcome, call.signal);
  }

  /** Reports a mapping that returned an invalid status. */
  #mappingFailed(returned: unknown): void {
    ignoreRejection(returned);
    const problem =
      'A status mapping returned an invalid status: return a 32-bit integer, undefined or null.';
    this.#reporter.failed('mapping', new TypeError(problem));
  }
}

/** Returns the status of a call that did not run: denied, or given up by the caller for this reason. */
export function statusOfRefusal(reason: unknown): number {
  try {
    if (ActionDeniedError.isInstance(reason)) return responseStatuses.denied;
    const isTimeout = (reason as { name?: unknown } | undefined)?.name === 'TimeoutError';
    return isTimeout ? responseStatuses.timedOut : responseStatuses.aborted;
  } catch {
    return responseStatuses.aborted; // a getter of the reason threw
  }
}
