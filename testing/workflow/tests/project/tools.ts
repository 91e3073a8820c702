import { actlog } from '@actlog/ai-sdk';
import { Recorder } from '@actlog/recorder';
import { tool } from 'ai';
import { getWorkflowMetadata } from 'workflow';
import * as z from 'zod';

/** Recorder of the process that runs the steps. */
export const recorder = new Recorder({
  agentId: 'support',
  spool: false, // a step may run anywhere
  guard: { mode: 'enforce', onUnavailable: 'deny' },
});

function toolNamed(name: string) {
  return tool({
    inputSchema: z.object({ id: z.string() }),
    execute: async ({ id }) => {
      if (name === 'fail') throw new Error(`No ${id}.`);
      return `${name}: done`;
    },
  });
}

/** Tools of the steps, in sessions of the workflow's runs. */
export const tools = actlog(
  { read: toolNamed('read'), remove: toolNamed('remove'), send: toolNamed('send'), fail: toolNamed('fail') },
  { recorder, sessionId: () => getWorkflowMetadata().workflowRunId },
);
