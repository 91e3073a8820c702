import type { OptionalFacts } from '../events/event.ts';
import type { Reporter } from './reporter.ts';

const texts = {
  origins: {
    ofChecks: 'policy checks with argument origins; they are sent without them, and policies cannot use them',
    ofEvents: 'events about argument origins; no more are sent, and risk scores do without them',
    fix: "Upgrade the service, or turn off the recorder's option origins.",
  },
  subagents: {
    ofChecks:
      'policy checks that name a subagent or the agents above; they are sent without them, and only the policies of the acting agent apply',
    ofEvents: 'events about the calls of subagents; no more are sent',
    fix: 'Upgrade the service.',
  },
  seals: {
    ofChecks: undefined,
    ofEvents: 'seals of sessions; no more are sent, and a lost event does not show',
    fix: "Upgrade the service, or turn off the recorder's option seals.",
  },
  changes: {
    ofChecks:
      'policy checks of callers that can run changed arguments; they are sent without that, and no approver can change arguments',
    ofEvents: undefined,
    fix: 'Upgrade the service.',
  },
} as const;

/** Facts of a check that a service may reject. */
export type OptionalCheckFacts = OptionalFacts | 'changes';

/** Remembers that the service does not take some facts, in checks or as events, so that they are no longer sent. */
export class FactRefusals {
  readonly #reporter: Reporter;
  readonly #ofChecks = new Set<OptionalCheckFacts>();
  readonly #ofEvents = new Set<OptionalFacts>();

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** `true` if checks are sent without these facts. */
  ofChecks(facts: OptionalCheckFacts): boolean {
    return this.#ofChecks.has(facts);
  }

  /** `true` if no events about these facts are sent. */
  ofEvents(facts: OptionalFacts): boolean {
    return this.#ofEvents.has(facts);
  }

  /** Remembers that the service accepted a check only without these facts. */
  rememberCheck(facts: OptionalCheckFacts): void {
    if (this.#ofChecks.has(facts)) return;
    this.#ofChecks.add(facts);
    this.#report(facts, texts[facts].ofChecks);
  }

  /** Remembers that the service rejected an event about these facts. */
  rememberEvent(facts: OptionalFacts): void {
    if (this.#ofEvents.has(facts)) return;
    this.#ofEvents.add(facts);
    this.#report(facts, texts[facts].ofEvents);
  }

  #report(facts: OptionalCheckFacts, what: string | undefined): void {
    const message = `The service rejects ${what}. ${texts[facts].fix}`;
    this.#reporter.failed(`${facts}-refused`, new Error(message));
  }
}
