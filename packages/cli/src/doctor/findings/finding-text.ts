/** A problem that `actlog doctor` can find. Texts have placeholders, such as `{host}`. */
export interface FindingText {
  /** Id of the check that finds it. */
  readonly check: string;
  /** `failed` makes the command exit with 1; `warning` does not. */
  readonly status: 'failed' | 'warning';
  readonly problem: string;
  readonly fix: string;
}
