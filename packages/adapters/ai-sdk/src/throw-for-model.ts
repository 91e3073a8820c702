import { ActionDeniedError } from '@actlog/recorder';

/**
 * Throws an error in a form that the AI SDK passes to the model. Depending on version and situation, it uses the
 * error's message, its string form or its JSON: for a denial, all of them are the message.
 *
 * @throws the given error
 */
export function throwForModel(error: unknown): never {
  if (ActionDeniedError.isInstance(error)) {
    // Configurable, because a denial passes here twice if a tool calls another one manually.
    const method = { configurable: true, value: () => error.message };
    Object.defineProperties(error, { toString: method, toJSON: method });
  }
  throw error;
}
