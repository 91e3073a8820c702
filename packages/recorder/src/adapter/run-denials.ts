import { hash } from 'node:crypto';
import { stringifyExactJson } from '@actlog/tool-call';
import type { ActionDeniedError } from '../guard/action-denied-error.ts';

/** Denials of one call, of the same tool with the same arguments, after which a run ends. */
export const maxSameDenials = 5;

/** Denials of one tool with nothing let through between them, whatever the arguments, after which a run ends. */
export const maxDenialsInARow = 50;

/** Distinct denied calls to remember for a run. */
const maxCalls = 1000;

/**
 * Counts the denied calls of one run of an agent. A model that repeats a denied call would otherwise never stop in a
 * framework without a limit on turns.
 */
export class RunDenials {
  readonly #same = new Map<string, number>();
  readonly #inARow = new Map<string, number>();

  /**
   * Counts a denial.
   *
   * @returns `true` if the model has repeated itself so often that the adapter ends the run
   */
  count(call: { readonly toolName: string; readonly arguments: unknown }): boolean {
    const inARow = (this.#inARow.get(call.toolName) ?? 0) + 1;
    this.#inARow.set(call.toolName, inARow);
    if (this.#same.size >= maxCalls) this.#same.clear();
    const key = callDigest(call);
    const same = (this.#same.get(key) ?? 0) + 1;
    this.#same.set(key, same);
    return same >= maxSameDenials || inARow >= maxDenialsInARow;
  }

  /** Resets the count of a tool after an allowed call, because the model found another way. */
  letThrough(toolName: string): void {
    this.#inARow.delete(toolName);
  }
}

/** A run of an agent that ends if its model repeats a denied call. */
export class DeniedRun {
  readonly #denials = new RunDenials();
  #reason: string | undefined;

  /** Final message of the run; undefined while it continues. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /**
   * Counts a denial.
   *
   * @returns `true` if it ends the run
   */
  deny(call: { readonly toolName: string; readonly arguments: unknown }, denial: ActionDeniedError): boolean {
    if (!this.#denials.count(call) || this.#reason !== undefined) return false;
    this.#reason = endOfRunReason(denial);
    return true;
  }

  /** Resets the count of a tool after an allowed call. */
  letThrough(toolName: string): void {
    this.#denials.letThrough(toolName);
  }
}

/** Returns the reason why the run ended, for the user who reads the run's final output. */
export function endOfRunReason(denial: { readonly message: string }): string {
  return `${denial.message} The run was ended because the model repeated the call.`;
}

/** Returns a digest of a tool and its arguments, by which equal calls are recognized without keeping their arguments. */
export function callDigest({
  toolName,
  arguments: args,
}: {
  readonly toolName: string;
  readonly arguments: unknown;
}): string {
  let text: string | undefined;
  try {
    text = typeof args === 'string' ? args : stringifyExactJson(args);
  } catch {
    text = undefined; // not JSON-serializable: the calls of the tool count as one
  }
  return hash('sha256', `${toolName}\n${text}`);
}
