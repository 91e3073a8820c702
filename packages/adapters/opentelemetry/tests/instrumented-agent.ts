import type { Ending, Scenario, SuiteTool } from '@actlog/adapter-suite';
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import * as z from 'zod';

type ToolResult = Ending['toolResults'][number];

/** A manually instrumented agent that follows OpenTelemetry's conventions for GenAI. */
export class InstrumentedAgent {
  readonly #tracer: Tracer;
  readonly #tools: Map<string, SuiteTool>;

  constructor(tracer: Tracer, tools: readonly SuiteTool[]) {
    this.#tracer = tracer;
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  /** Makes the calls of a scenario like an agent with a scripted model. */
  async run({ turns, sessionId, userText = 'go', systemText }: Scenario): Promise<Ending> {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'tester',
      'gen_ai.conversation.id': sessionId,
      ...(systemText !== undefined && {
        'gen_ai.system_instructions': JSON.stringify([textPart(systemText)]),
      }),
    };
    const span = this.#tracer.startSpan('invoke_agent tester', { attributes });
    const within = trace.setSpan(ROOT_CONTEXT, span);
    const toolResults: ToolResult[] = [];
    for (const [turn, calls] of turns.entries()) {
      this.#chat(userText, within);
      const results = calls.map(({ toolName, arguments: args }, place) =>
        this.#call(toolName, args, `${turn}-${place}`, within),
      );
      toolResults.push(...(await Promise.all(results)));
    }
    span.end();
    return { toolResults, finalText: 'done' };
  }

  #chat(userText: string, within: Context): void {
    const attributes = { 'gen_ai.operation.name': 'chat' };
    const span = this.#tracer.startSpan('chat scripted', { attributes }, within);
    const messages = [{ role: 'user', parts: [textPart(userText)] }];
    span.setAttribute('gen_ai.input.messages', JSON.stringify(messages));
    span.end();
  }

  /** Only an existing tool with valid arguments is executed: the conventions have a span for that alone. */
  async #call(
    toolName: string,
    args: Record<string, unknown>,
    callId: string,
    within: Context,
  ): Promise<ToolResult> {
    const tool = this.#tools.get(toolName);
    if (!tool) return { text: `There is no tool ${toolName}.`, isError: true };
    const { success, data } = z.object({ text: z.string() }).safeParse(args);
    if (!success) return { text: `These are no arguments of ${toolName}.`, isError: true };
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': toolName,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.call.arguments': JSON.stringify(args),
    };
    const span = this.#tracer.startSpan(`execute_tool ${toolName}`, { attributes }, within);
    try {
      const text = await tool.run(data);
      span.setAttribute('gen_ai.tool.call.result', text);
      return { text, isError: false };
    } catch (error) {
      return failed(span, error as Error);
    } finally {
      span.end();
    }
  }
}

function textPart(content: string) {
  return { type: 'text', content };
}

function failed(span: Span, error: Error): ToolResult {
  span.recordException(error);
  span.setAttribute('error.type', error.name);
  span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
  return { text: error.message, isError: true };
}
