/** A framework that other recorders have adapters for. */
interface Framework {
  readonly load: () => Promise<object>;
  /** Which of our hooks is beside them: a part of its name. */
  readonly hook: string;
  readonly peers: readonly string[];
  /** Keeps the framework's own tracing from looking for its service. */
  readonly silence?: (framework: { setTraceProcessors(processors: never[]): void }) => void;
}

/** Those frameworks, by the names of our adapters; LangChain's stands in `npm run bench -- recorder langchain`. */
export const frameworks: Readonly<Record<string, Framework>> = {
  'ai-sdk': {
    load: () => import('ai'),
    hook: 'tools: actlog',
    peers: ['langfuse', 'openinference', 'langsmith'],
  },
  'openai-agents': {
    load: () => import('@openai/agents'),
    hook: 'actlog(agent)',
    peers: ['openinference', 'langsmith'],
    silence: ({ setTraceProcessors }) => setTraceProcessors([]),
  },
};
