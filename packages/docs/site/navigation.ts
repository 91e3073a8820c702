import { httpPages } from '../build/http-reference/write-http-reference.ts';
import { typescriptPages } from '../build/typescript-pages.ts';

/** One page of the site, by the repository's file or the generated page that it shows. */
export interface PageEntry {
  /** Path of the file from the root of the repository; `reference/…` for a generated page. */
  readonly source: string;
  /** Text of the sidebar; by default the page's heading. */
  readonly text?: string;
}

/** A group of the sidebar. */
export interface NavigationGroup {
  readonly text: string;
  readonly pages: readonly PageEntry[];
}

/** A part of the site, with its own sidebar and its entry in the top navigation. */
export interface Section {
  readonly text: string;
  /** Folder of the section's guides on the site. */
  readonly folder: string;
  readonly groups: readonly NavigationGroup[];
}

const guide = (name: string, text?: string): PageEntry => ({
  source: `docs/${name}.md`,
  ...(text === undefined ? {} : { text }),
});

const packagePage = (folder: string, text: string): PageEntry => ({
  source: `packages/${folder}/README.md`,
  text,
});

const adapter = (folder: string, text: string): PageEntry => packagePage(`adapters/${folder}`, text);

/** The sections of the site in reading order. Every guide and every README of a package is in one of them. */
export const sections: readonly Section[] = [
  {
    text: 'Start',
    folder: 'start',
    groups: [
      {
        text: 'First steps',
        pages: [
          guide('quick-start'),
          guide('record-an-agent'),
          guide('otlp'),
          guide('gateway', 'Guard an MCP client'),
          guide('coding-agents'),
        ],
      },
      {
        text: 'Adapters',
        pages: [
          guide('adapters', 'Choose an adapter'),
          adapter('langchain', 'LangChain, LangGraph'),
          adapter('openai-agents', 'OpenAI Agents SDK'),
          adapter('openai', 'OpenAI'),
          adapter('ai-sdk', 'Vercel AI SDK'),
          adapter('anthropic', 'Anthropic'),
          adapter('claude-agent-sdk', 'Claude Agent SDK'),
          adapter('mcp', 'MCP'),
          adapter('a2a', 'A2A'),
          adapter('acp', 'ACP'),
          adapter('mastra', 'Mastra'),
          adapter('google-adk', 'Google ADK'),
          adapter('google-genai', 'Google Gen AI'),
          adapter('strands', 'Strands'),
          adapter('genkit', 'Genkit'),
          adapter('pi-agent-core', 'pi'),
          adapter('opencode', 'opencode'),
          adapter('opentelemetry', 'OpenTelemetry'),
          guide('writing-an-adapter'),
        ],
      },
    ],
  },
  {
    text: 'Guides',
    folder: 'guides',
    groups: [
      {
        text: 'Policies and approvals',
        pages: [
          guide('guard-and-approvals'),
          guide('observe-to-enforce'),
          guide('ask-only-when-it-matters'),
          guide('history-in-conditions'),
          guide('policies-as-code'),
          guide('policy-packs'),
          guide('decisions'),
        ],
      },
      {
        text: 'Read what agents did',
        pages: [
          guide('iterate-sessions'),
          guide('overview'),
          guide('risk'),
          guide('client-connections'),
          guide('other-services'),
        ],
      },
      { text: 'Trust', pages: [guide('delivery-guarantees'), guide('privacy')] },
    ],
  },
  {
    text: 'Operate',
    folder: 'operate',
    groups: [
      {
        text: 'Run the service',
        pages: [
          guide('self-hosting'),
          guide('postgresql'),
          guide('deployment'),
          guide('sign-in'),
          guide('upgrading'),
          guide('troubleshooting'),
        ],
      },
      {
        text: 'Keep it healthy',
        pages: [
          guide('backup'),
          guide('keys-and-retention'),
          guide('identity'),
          guide('quotas'),
          guide('monitoring'),
          guide('forwarding'),
          guide('history'),
          guide('audit'),
          guide('evidence'),
          guide('compliance'),
          guide('channels'),
          guide('webhook-deliveries'),
        ],
      },
      {
        text: 'Check a deployment',
        pages: [guide('conformance'), guide('conformance-requirements', 'Requirements')],
      },
    ],
  },
  {
    text: 'Reference',
    folder: 'reference',
    groups: [
      { text: 'Command', pages: [guide('command-line')] },
      {
        text: 'HTTP API',
        pages: [
          guide('http-api', 'Overview'),
          ...httpPages.map(({ page, title }) => ({ source: page, text: title })),
        ],
      },
      {
        text: 'Packages',
        pages: [
          packagePage('cli', 'actlog'),
          packagePage('client', '@actlog/client'),
          packagePage('recorder', '@actlog/recorder'),
          packagePage('hook', '@actlog/hook'),
          packagePage('gateway', '@actlog/gateway'),
          packagePage('server', '@actlog/server'),
          packagePage('console', '@actlog/console'),
          packagePage('risk', '@actlog/risk'),
          packagePage('policy', '@actlog/policy'),
          packagePage('log', '@actlog/log'),
          packagePage('identity', '@actlog/identity'),
          packagePage('tool-call', '@actlog/tool-call'),
          packagePage('contract', '@actlog/contract'),
          packagePage('msw', '@actlog/msw'),
          packagePage('protocol', '@actlog/protocol'),
          packagePage('docs', '@actlog/docs'),
        ],
      },
      {
        text: 'TypeScript API',
        pages: typescriptPages().map(({ page, title }) => ({ source: page, text: title })),
      },
    ],
  },
  { text: 'Compare', folder: 'compare', groups: [{ text: 'Compare', pages: [guide('comparison')] }] },
];
