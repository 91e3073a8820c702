import { suiteTools } from '@actlog/adapter-suite';
import { FastMCP } from 'fastmcp';
import * as z from 'zod/v3';

const silent = { debug() {}, error() {}, info() {}, log() {}, warn() {} };

/** Creates a server of `fastmcp`, which starts later. */
export function newFastMcp(): FastMCP {
  // The oldest version knows no `logger`, and pings no clients without roots.
  return new FastMCP({ name: 'tools', version: '1.0.0', logger: silent, roots: { enabled: false } } as never);
}

/** Adds the tools of the suite. */
export function addTools(server: FastMCP, { all } = suiteTools()): void {
  for (const { name, run } of all) {
    server.addTool({
      name,
      description: `The tool ${name}.`,
      parameters: z.object({ text: z.string() }) as never,
      execute: async (args: unknown) => run(args as { text: string }, undefined as never),
    });
  }
}
