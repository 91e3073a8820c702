import { withMethods } from '@actlog/recorder/adapter';
import type { McpSdkServerConfigWithInstance, McpServerConfig } from '@anthropic-ai/claude-agent-sdk';
import type { OpenCalls } from './open-calls.ts';

/** Key under which Claude Code passes the id of a call to tools in this process. */
const toolUseIdKey = 'claudecode/toolUseId';

/** The used part of a connection to a server in this process. */
interface Connection {
  onmessage?: (message: unknown, ...rest: unknown[]) => unknown;
}

/**
 * Returns the same MCP servers. Those in this process handle a call as part of it, so that inner calls of their tools
 * are attributed to it.
 */
export function withCalls(
  servers: Record<string, McpServerConfig>,
  open: OpenCalls,
): Record<string, McpServerConfig> {
  return Object.fromEntries(
    Object.entries(servers).map(([name, config]) => [
      name,
      config.type === 'sdk' && 'instance' in config ? withInstance(config, open) : config,
    ]),
  );
}

function withInstance(config: McpSdkServerConfigWithInstance, open: OpenCalls): McpServerConfig {
  const connect = async (connection: Connection) => {
    await config.instance.connect(connection as never);
    const { onmessage } = connection;
    if (onmessage) connection.onmessage = within(onmessage.bind(connection), open);
  };
  return { ...config, instance: withMethods(config.instance, { connect }) };
}

function within(
  handle: (...args: unknown[]) => unknown,
  open: OpenCalls,
): NonNullable<Connection['onmessage']> {
  return (message, ...rest) => {
    const toolUseId = toolUseIdOf(message);
    const run = () => handle(message, ...rest);
    return toolUseId === undefined ? run() : open.step(toolUseId, run);
  };
}

function toolUseIdOf(message: unknown): string | undefined {
  const { params } = (message ?? {}) as { params?: { _meta?: Record<string, unknown> } };
  const toolUseId = params?._meta?.[toolUseIdKey];
  return typeof toolUseId === 'string' ? toolUseId : undefined;
}
