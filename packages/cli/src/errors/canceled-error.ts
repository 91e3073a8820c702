/** Error thrown when a person declined a destructive operation. It ends the command with exit code 0. */
export class CanceledError extends Error {
  override readonly name = 'CanceledError';

  constructor() {
    super('Nothing was changed.');
  }
}
