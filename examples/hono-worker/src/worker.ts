import { Recorder } from '@actlog/recorder';
import { Hono } from 'hono';
import { contextStorage, tryGetContext } from 'hono/context-storage';
import { answerQuestion, orderTools } from './order-agent.ts';

/** Bindings of the worker. */
export interface Bindings {
  readonly ACTLOG_BASE_URL: string;
  /** A key with the scope `ingest`. */
  readonly ACTLOG_API_KEY: string;
}

type Environment = { Bindings: Bindings };

let recorder: Recorder | undefined;

/** Returns the recorder of all requests of this instance. The first one creates it, because bindings come with requests. */
export function recorderOf({ ACTLOG_BASE_URL, ACTLOG_API_KEY }: Bindings): Recorder {
  recorder ??= new Recorder({
    baseURL: ACTLOG_BASE_URL,
    apiKey: ACTLOG_API_KEY,
    agentId: 'order-desk',
    spool: false, // no disk outlives the instance
    // Delivery is background work of the request, and does not delay its response.
    waitUntil: (delivery) => tryGetContext<Environment>()?.executionCtx.waitUntil(delivery),
  });
  return recorder;
}

/** Handler of `POST /chats/:id`, whose body names an order. Each chat is a separate session. */
const app = new Hono<Environment>();
app.use(contextStorage());
app.post('/chats/:id', async (context) => {
  const recorder = recorderOf(context.env);
  const { orderId } = await context.req.json<{ orderId: string }>();
  const tools = recorder.instrument(orderTools);
  const session = recorder.session(context.req.param('id'));
  return context.json({ answer: await session.run(() => answerQuestion(orderId, tools)) });
});

/** For platforms that call `fetch(request, bindings, context)`. */
export default { fetch: app.fetch };

/** Entry point for platforms that freeze the instance after the response, which is delayed until delivery. */
export async function handle(request: Request, bindings: Bindings): Promise<Response> {
  const context = { waitUntil() {}, passThroughOnException() {}, props: {} };
  return recorderOf(bindings).flushOnReturn(() => app.fetch(request, bindings, context))();
}
