import { actlog } from '@actlog/ai-sdk';
import { Recorder } from '@actlog/recorder';
import { Agent, routeAgentRequest } from 'agents';
import { generateText, stepCountIs, streamText, type ToolSet, tool } from 'ai';
import * as z from 'zod';
import { modelCalling } from './model.ts';

interface Environment {
  readonly ACTLOG_BASE_URL: string;
  readonly ACTLOG_API_KEY: string;
}

/** Tools that note when they run. */
function tools(ran: string[], names: readonly string[]): ToolSet {
  const toolNamed = (name: string) =>
    tool({
      inputSchema: z.object({ id: z.string() }),
      execute: async ({ id }) => {
        ran.push(`${name} ${id}`);
        return `${name}: done`;
      },
    });
  return Object.fromEntries(names.map((name) => [name, toolNamed(name)]));
}

/** An agent whose model calls the tools that the request names, as `?call=read&call=remove`. */
export class Support extends Agent<Environment> {
  // Of workerd's own class, whose types are not installed.
  declare readonly env: Environment;

  override async onRequest(request: Request): Promise<Response> {
    const recorder = new Recorder({
      baseURL: this.env.ACTLOG_BASE_URL,
      apiKey: this.env.ACTLOG_API_KEY,
      agentId: 'support',
      spool: false, // there is no disk
      guard: { mode: 'enforce', onUnavailable: 'deny' },
    });
    const { searchParams } = new URL(request.url);
    const names = searchParams.getAll('call');
    const ran: string[] = [];
    const run = {
      model: modelCalling(names),
      prompt: 'Remove user u-1.',
      tools: actlog(tools(ran, names), { recorder, sessionId: this.name }),
      stopWhen: stepCountIs(5),
    };
    const text = searchParams.has('streamed') ? await streamText(run).text : (await generateText(run)).text;
    return Response.json({ text, ran, closed: await recorder.close() });
  }
}

export default {
  fetch: async (request: Request, env: Environment) =>
    (await routeAgentRequest(request, env)) ?? new Response('There is no such agent.', { status: 404 }),
};
