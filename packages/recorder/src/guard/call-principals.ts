import type { Reporter } from '../reporting/reporter.ts';
import type { GuardOptions } from './guard-options.ts';
import type { GuardedCall } from './guarded-call.ts';

/** Texts that the service accepts (reference profile, "Check"). */
const validPrincipal = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/** `true` if the service accepts a text as a principal. */
export function isPrincipal(text: string): boolean {
  return validPrincipal.test(text);
}

/** Principals of calls. Each is read once, because an approval is bound to it. */
export class CallPrincipals {
  readonly #option: GuardOptions['principal'];
  readonly #reporter: Reporter;
  readonly #known = new WeakMap<GuardedCall, { readonly principal: string | undefined }>();

  constructor(option: GuardOptions['principal'], reporter: Reporter) {
    this.#option = option;
    this.#reporter = reporter;
  }

  /** Returns the principal of a call; undefined for none, and null if the option fails to name it. */
  of(call: GuardedCall): string | null | undefined {
    const option = this.#option;
    if (typeof option !== 'function') return option;
    const known = this.#known.get(call);
    if (known) return known.principal;
    let problem = 'threw';
    try {
      const { agentId, sessionId, toolName } = call;
      const given: unknown = option({ agentId, sessionId, toolName });
      problem = 'returned a value that is not a text of at most 200 characters on one line';
      if (given === undefined || (typeof given === 'string' && isPrincipal(given))) {
        this.#known.set(call, { principal: given });
        return given;
      }
    } catch {
      // The error could quote an argument.
    }
    this.#reporter.failed('guard', new Error(`guard.principal ${problem}; the call was not checked.`));
    return null;
  }
}
