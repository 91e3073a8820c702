import { randomBytes } from 'node:crypto';
import type { Settings } from '../contract-options.ts';
import { isObject } from '../http/api-response.ts';
import { Probe } from '../http/probe.ts';
import { skip } from '../outcome.ts';

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

/** Matches everything that looks like a key or a secret of the service. */
const secretPattern = /\b(al_live_|al_test_|whsec_)[^\s"'<>()\\]+/g;

/** Removes secrets from the strings of a report. */
export class Redaction {
  readonly #secrets: readonly string[];

  /** `keys` are removed wherever they occur, also in the encoded forms that checks send. */
  constructor(keys: readonly (string | undefined)[]) {
    this.#secrets = keys
      .filter((key) => key !== undefined)
      .flatMap((key) => [key, btoa(`${key}:`), ...(key.length > 8 ? [key.slice(0, -4)] : [])])
      .filter((secret) => secret !== '');
  }

  /** Returns the text without secrets. */
  text(text: string): string {
    let result = text;
    for (const secret of this.#secrets) result = result.replaceAll(secret, '[redacted]');
    return result.replaceAll(secretPattern, '$1[redacted]');
  }
}

/** Part of the budget that all failed looks may take together, including looks after it is used up. */
const longestVainPart = 3;

/**
 * Time that a run may wait in vain for accepted data to appear. All looks share it, so that a deployment that never
 * shows its data does not delay the run repeatedly. Waiting that ends with success costs nothing, so that a
 * deployment that shows its data late passes.
 */
export class SettleBudget {
  readonly #totalMs: number;
  #vainMs = 0;
  #longestSuccessMs = 0;

  /** `totalMs` is the budget of the whole run. */
  constructor(totalMs: number) {
    this.#totalMs = totalMs;
  }

  /**
   * Time that the next look may take, in milliseconds: what is left of the budget, or twice the longest time after
   * which data appeared in this run.
   */
  get allowanceMs(): number {
    if (this.#vainMs >= longestVainPart * this.#totalMs) return 0;
    return Math.max(this.#totalMs - this.#vainMs, Math.min(2 * this.#longestSuccessMs, this.#totalMs));
  }

  /** Records a look that found its data after `tookMs`. */
  found(tookMs: number): void {
    this.#longestSuccessMs = Math.max(this.#longestSuccessMs, tookMs);
  }

  /** Records a look that gave up after `tookMs`. */
  gaveUp(tookMs: number): void {
    this.#vainMs += tookMs;
  }
}
