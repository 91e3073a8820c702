/** Error thrown by a check when the deployment violates the requirement. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** Error thrown by a check that cannot run; the message is the reason. */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/** Fails the current check. */
export function fail(message: string): never {
  throw new Failure(message);
}

/** Skips the current check, for a reason that the reader can act on. */
export function skip(reason: string): never {
  throw new Skip(reason);
}
