/** Thrown by a check: the deployment does otherwise than the requirement says. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** Thrown by a check that cannot be made; the message is the reason. */
export class Skip extends Error {
  override readonly name = 'Skip';
}

/** Ends a check as failed. */
export function fail(message: string): never {
  throw new Failure(message);
}

/** Ends a check as skipped, for a reason that a reader can act on. */
export function skip(reason: string): never {
  throw new Skip(reason);
}
