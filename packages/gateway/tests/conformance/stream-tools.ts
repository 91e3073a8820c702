import { type ConformanceTool, noArguments, notify, textResult } from './tool.ts';

/** Tools that use the stream of their response: logs, progress, and a stream that ends before the result. */
export const streamTools: readonly ConformanceTool[] = [
  {
    name: 'test_tool_with_logging',
    description: 'Sends three log messages.',
    inputSchema: noArguments,
    run: async (_args, context) => {
      for (const data of ['Started.', 'Half done.', 'Done.'])
        await notify(context, { method: 'notifications/message', params: { level: 'info', data } });
      return textResult('Logged.');
    },
  },
  {
    name: 'test_tool_with_progress',
    description: 'Reports progress three times.',
    inputSchema: noArguments,
    run: async (_args, context) => {
      const progressToken = context._meta?.progressToken;
      if (progressToken === undefined) return textResult('Done, without progress.');
      for (const progress of [0, 50, 100])
        await notify(context, {
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      return textResult('Done.');
    },
  },
  {
    name: 'test_reconnection',
    description: 'Closes the stream of its response before the result (SEP-1699).',
    inputSchema: noArguments,
    run: async (_args, context) => {
      context.closeSSEStream?.();
      return textResult('The client has resumed the stream.');
    },
  },
];
