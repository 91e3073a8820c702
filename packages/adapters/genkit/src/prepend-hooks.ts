import type { GenerateMiddlewareDef } from 'genkit';
import type { RecordingHooks } from './recording-hooks.ts';

/**
 * Returns a middleware whose hooks run in front of those of another, which keeps its tools.
 *
 * @param isOff - returns `true` while the hooks are to be left out
 */
export function prependHooks(
  own: GenerateMiddlewareDef,
  hooks: RecordingHooks,
  isOff: () => boolean,
): GenerateMiddlewareDef {
  return {
    ...(own.tools && { tools: own.tools }),
    generate(envelope, context, next) {
      const inner: typeof next = async (...args) =>
        own.generate ? own.generate(...args, next) : next(...args);
      return isOff() ? inner(envelope, context) : hooks.generate(envelope, context, inner);
    },
    model(request, context, next) {
      const inner: typeof next = async (...args) => (own.model ? own.model(...args, next) : next(...args));
      return isOff() ? inner(request, context) : hooks.model(request, context, inner);
    },
    tool(request, context, next) {
      const inner: typeof next = async (...args) => (own.tool ? own.tool(...args, next) : next(...args));
      return isOff() ? inner(request, context) : hooks.tool(request, context, inner);
    },
  };
}
