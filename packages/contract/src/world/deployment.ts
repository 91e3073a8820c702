import { randomBytes } from 'node:crypto';
import type { Settings } from '../contract-options.ts';
import { isObject } from '../http/api-response.ts';
import { Probe } from '../http/probe.ts';
import { skip } from '../outcome.ts';
import { Redaction } from '../redact.ts';
import { SettleBudget } from './settle-budget.ts';

/** The deployment under test, with the requests and the record names of one run. */
export class Deployment {
  readonly settings: Settings;
  readonly probe: Probe;
  readonly redaction: Redaction;
  /** Name prefix of everything that the run creates; valid in DNS. */
  readonly prefix = `actlog-contract-${randomBytes(5).toString('hex')}`;
  readonly #settling: SettleBudget;
  #names = 0;

  constructor(settings: Settings) {
    const { apiKey, secondTenantKey, retiredKey } = settings;
    this.settings = settings;
    this.probe = new Probe(settings);
    this.#settling = new SettleBudget(settings.settleMs);
    this.redaction = new Redaction([apiKey, secondTenantKey, retiredKey]);
  }

  /** `true` if the deployment claims to implement the reference profile. */
  get isReference(): boolean {
    return this.settings.capabilities.has('reference-profile');
  }

  /** Returns a unique name. */
  newName(what: string): string {
    this.#names += 1;
    return `${this.prefix}-${what}-${this.#names}`;
  }

  /** Returns the key of another tenant; skips the check if there is none. */
  secondTenantKey(): string {
    return (
      this.settings.secondTenantKey ?? skip('no key of a second tenant was given (ACTLOG_SECOND_TENANT_KEY)')
    );
  }

  /**
   * Polls `look` until `isThere` accepts its result or the settle time of the run is used up; returns the last result.
   */
  async eventually<Seen>(look: () => Promise<Seen>, isThere: (seen: Seen) => boolean): Promise<Seen> {
    const { clock, signal } = this.settings;
    const { allowanceMs } = this.#settling;
    const startedMs = performance.now();
    let sleptMs = 0;
    for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 1000)) {
      const seen = await look();
      // The clock of a test sleeps without time passing.
      const tookMs = Math.max(sleptMs, performance.now() - startedMs);
      if (isThere(seen)) {
        if (sleptMs > 0) this.#settling.found(tookMs);
        return seen;
      }
      if (tookMs >= allowanceMs) {
        this.#settling.gaveUp(tookMs);
        return seen;
      }
      await clock.sleep(delayMs, signal);
      sleptMs += delayMs;
    }
  }

  /** Replaces the names in braces in the strings of a body. */
  filled(template: unknown, values: Readonly<Record<string, string>>): unknown {
    if (typeof template === 'string') {
      return template.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
        name === 'prefix' ? this.prefix : (values[name] ?? whole),
      );
    }
    if (Array.isArray(template)) return template.map((item) => this.filled(item, values));
    if (!isObject(template)) return template;
    return Object.fromEntries(
      Object.entries(template).map(([name, value]) => [name, this.filled(value, values)]),
    );
  }
}
