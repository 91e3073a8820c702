import { randomUUID } from 'node:crypto';
import { dynamicTool, type GenerateResponse, genkit, type Part, z } from 'genkit';
import { genkit as genkitBeta } from 'genkit/beta';

/** A call of the scripted model. `ref: null` is a model without call ids. */
export interface ScriptedRequest {
  readonly name: string;
  readonly input: unknown;
  readonly ref?: string | null;
}

/** Shared by all tests, because Genkit cannot be set up inside a tool. */
export const ai = genkit({});

/** The same for tests that cover a whole application. */
export const application = genkit({});

/** The same with Genkit's beta features, such as interrupts. */
export const beta = genkitBeta({});

/** The same for tests that cover it as a whole. */
export const betaApplication = genkitBeta({});

const scripts = new Map<string, readonly (readonly ScriptedRequest[])[]>();

const name = 'scripted';

for (const instance of [ai, application, beta, betaApplication]) {
  instance.defineModel(
    { apiVersion: 'v2', name, supports: { tools: true }, configSchema: z.object({ script: z.string() }) },
    async ({ messages, config }, { sendChunk }) => {
      const turn = messages.filter(({ role }) => role === 'model').length;
      const calls = scripts.get(config?.script ?? '')?.[turn] ?? [];
      const content: Part[] = calls.map(({ name, input, ref }, place) => ({
        toolRequest: { name, input, ...(ref !== null && { ref: ref ?? `${turn}-${place}` }) },
      }));
      if (content.length === 0) content.push({ text: 'done' });
      sendChunk({ content });
      return { message: { role: 'model', content }, finishReason: 'stop' };
    },
  );
}

/** Creates a model that makes these calls, one inner list per turn, and then says `done`. */
export function modelOf(turns: readonly (readonly ScriptedRequest[])[]) {
  const script = randomUUID();
  scripts.set(script, turns);
  return { model: name, config: { script } };
}

/** Creates tools that note when they run: `echo` returns its text, `fail` throws. */
export function tools() {
  const ran: string[] = [];
  const echo = dynamicTool(
    { name: 'echo', description: 'Says it again.', inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => {
      ran.push(`echo ${text}`);
      return `echo: ${text}`;
    },
  );
  const fail = dynamicTool({ name: 'fail', description: 'Breaks.' }, async (): Promise<string> => {
    ran.push('fail');
    throw Object.assign(new Error('it broke'), { status: 502 });
  });
  return { ran, echo, fail };
}

/** Returns the tool results that the model received. */
export function toolResultsOf({ messages }: Pick<GenerateResponse, 'messages'>) {
  return messages
    .flatMap(({ content }) => content)
    .flatMap(({ toolResponse }) => (toolResponse ? [toolResponse.output] : []))
    .map((output) => {
      const error = (output as { error?: unknown } | null)?.error;
      return { text: String(error ?? output), isError: error !== undefined };
    });
}
