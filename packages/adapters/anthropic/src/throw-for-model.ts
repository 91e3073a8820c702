import { ActionDeniedError } from '@actlog/recorder';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';

/**
 * Throws an error in a form that the SDK passes to the model: it prefixes all errors with `Error: ` except its own
 * `ToolError`, whose content it uses unchanged.
 *
 * @throws the given error, or a `ToolError` for a denial
 */
export function throwForModel(error: unknown): never {
  if (!ActionDeniedError.isInstance(error)) throw error;
  throw Object.assign(new ToolError(error.message), { cause: error });
}
