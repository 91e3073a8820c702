/**
 * Reason why a run could not be made at all.
 *
 * - `USAGE`: an option is invalid; the message names it and the reason.
 * - `UNREACHABLE`: the deployment did not respond.
 * - `KEY_REFUSED`: the deployment rejected the API key, so nothing could be checked.
 */
export type ContractErrorCode = 'USAGE' | 'UNREACHABLE' | 'KEY_REFUSED';

/**
 * Error thrown when a run cannot be made. Violations of the contract are never thrown; they are in the
 * report.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  readonly code: ContractErrorCode;

  constructor(code: ContractErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
