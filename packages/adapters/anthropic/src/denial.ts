import { ActionDeniedError } from '@actlog/recorder';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';

/**
 * The SDK tells the model `Error: …` for all errors but its own `ToolError`, whose content it tells as it is.
 *
 * @throws the error that it is given, a denial as a `ToolError`
 */
export function throwForModel(error: unknown): never {
  if (!ActionDeniedError.isInstance(error)) throw error;
  throw Object.assign(new ToolError(error.message), { cause: error });
}
