import type { Reporter } from '../reporting/reporter.ts';

/** Remembers that the service does not take origins, in checks or as events, so that they are no longer sent. */
export class OriginRefusals {
  readonly #reporter: Reporter;
  #ofChecks = false;
  #ofEvents = false;

  constructor(reporter: Reporter) {
    this.#reporter = reporter;
  }

  /** `true` if checks are sent without origins. */
  get ofChecks(): boolean {
    return this.#ofChecks;
  }

  /** `true` if no events about origins are sent. */
  get ofEvents(): boolean {
    return this.#ofEvents;
  }

  /** Notes that the service accepted a check only without its origins. */
  noteCheck(): void {
    if (this.#ofChecks) return;
    this.#ofChecks = true;
    this.#report(
      'policy checks with argument origins; they are sent without them, and policies cannot use them',
    );
  }

  /** Notes that the service rejected an event about origins. */
  noteEvent(): void {
    if (this.#ofEvents) return;
    this.#ofEvents = true;
    this.#report('events about argument origins; no more are sent, and risk scores do without them');
  }

  #report(what: string): void {
    const message = `The service rejects ${what}. Upgrade the service, or turn off the recorder's option origins.`;
    this.#reporter.failed('origins-refused', new Error(message));
  }
}
