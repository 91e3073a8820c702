import { AdapterCalls, type AdapterOptions, toolContent } from '@actlog/recorder/adapter';
import { version } from './version.ts';

/** Creates the `AdapterCalls` of this adapter. */
export function piCalls(options: AdapterOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'pi-agent-core',
      sdk: `@actlog/pi-agent-core/${version}`,
      form: 'actlog(agent, { guard }) or actlog.tools(tools, { guard })',
      resultOf: shownResult,
    },
    options,
  );
}

/** Returns what the model sees of a result: its texts, without `details`. */
function shownResult(result: unknown): unknown {
  const { content } = (result ?? {}) as { readonly content?: unknown };
  return Array.isArray(content) ? toolContent({ content }) : result;
}
