/** Matches everything that looks like a key or a secret of the service. */
const secretPattern = /\b(al_live_|al_test_|whsec_)[^\s"'<>()\\]+/g;

/** Removes secrets from texts of a report. */
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
