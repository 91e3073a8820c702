/** Everything that looks like a key or a secret of the service, wherever it stands in a text. */
const secretPattern = /\b(al_live_|al_test_|whsec_)[^\s"'<>()\\]+/g;

/** Takes secrets out of a text before it becomes part of a report. */
export class Redaction {
  readonly #secrets: readonly string[];

  /** `keys` are taken out wherever they stand, whatever they look like, also in the forms that checks send. */
  constructor(keys: readonly (string | undefined)[]) {
    this.#secrets = keys
      .filter((key) => key !== undefined)
      .flatMap((key) => [key, btoa(`${key}:`), ...(key.length > 8 ? [key.slice(0, -4)] : [])])
      .filter((secret) => secret !== '');
  }

  /** The text without secrets. */
  text(text: string): string {
    let result = text;
    for (const secret of this.#secrets) result = result.replaceAll(secret, '[redacted]');
    return result.replaceAll(secretPattern, '$1[redacted]');
  }
}
