import { ActionDeniedError } from '@actlog/recorder';

/**
 * What the AI SDK reads out to the model is, by version and occasion, an error's message, its text form or its JSON:
 * a denial is its message in all of them.
 *
 * @throws the error that it is given
 */
export function throwForModel(error: unknown): never {
  if (ActionDeniedError.isInstance(error)) {
    // A tool that calls another by hand lets the denial of that through: it comes by here twice.
    const method = { configurable: true, value: () => error.message };
    Object.defineProperties(error, { toString: method, toJSON: method });
  }
  throw error;
}
