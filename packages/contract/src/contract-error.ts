/**
 * Why a run could not be made at all.
 *
 * - `USAGE`: an option cannot be used; its message says which and why.
 * - `UNREACHABLE`: the deployment gave no answer.
 * - `KEY_REFUSED`: the deployment refused the API key, so that nothing could be looked at.
 */
export type ContractErrorCode = 'USAGE' | 'UNREACHABLE' | 'KEY_REFUSED';

/** A run that could not be made. What a deployment does wrong is never thrown; it stands in the report. */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly code: ContractErrorCode;

  constructor(code: ContractErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
