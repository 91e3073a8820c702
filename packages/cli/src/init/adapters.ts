import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decodeText } from '@actlog/recorder/short-lived';

/** An adapter, and the line that hooks its framework to the recorder. */
export interface Adapter {
  /** Name of the package, or of its entry point. */
  readonly package: string;
  /** Name of the framework. */
  readonly title: string;
  /** Packages in package.json by which the framework is recognized. */
  readonly frameworks: readonly string[];
  /** Line to add to the program, with the names in the user's code. */
  readonly line: string;
}

/**
 * All adapters. A test compares them with the manifests of `packages/adapters`, and the lines with the first snippet of
 * their READMEs.
 */
export const adapters = [
  {
    package: '@actlog/a2a',
    title: 'the A2A SDK',
    frameworks: ['@a2a-js/sdk'],
    line: "const client = actlog(await new ClientFactory().createFromUrl('https://recipes.example.com'));\nconst requestHandler = new DefaultRequestHandler(card, taskStore, actlog(executor));",
  },
  {
    package: '@actlog/acp',
    title: 'the Agent Client Protocol',
    frameworks: ['@agentclientprotocol/sdk'],
    line: "const app = actlog(client({ name: 'editor' }));",
  },
  {
    package: '@actlog/ai-sdk',
    title: 'the Vercel AI SDK',
    frameworks: ['ai'],
    line: 'const result = await generateText({ model, prompt, tools: actlog(tools) });',
  },
  {
    package: '@actlog/anthropic',
    title: 'the Anthropic SDK',
    frameworks: ['@anthropic-ai/sdk'],
    line: 'const message = await client.beta.messages.toolRunner({ model, max_tokens, messages, tools: actlog(tools) });',
  },
  {
    package: '@actlog/claude-agent-sdk',
    title: 'the Claude Agent SDK',
    frameworks: ['@anthropic-ai/claude-agent-sdk'],
    line: 'for await (const message of query({ prompt, options: actlog(options) })) console.log(message);',
  },
  {
    package: '@actlog/genkit',
    title: 'Genkit',
    frameworks: ['genkit'],
    line: 'const ai = actlog(genkit({ plugins }));',
  },
  {
    package: '@actlog/google-adk',
    title: 'the Google ADK',
    frameworks: ['@google/adk'],
    line: 'actlog.install();',
  },
  {
    package: '@actlog/google-genai',
    title: 'the Google Gen AI SDK',
    frameworks: ['@google/genai'],
    line: 'const ai = actlog(new GoogleGenAI({ apiKey }));',
  },
  {
    package: '@actlog/langchain',
    title: 'LangChain or LangGraph',
    frameworks: ['langchain', '@langchain/core', '@langchain/langgraph'],
    line: 'actlog.install();',
  },
  {
    package: '@actlog/mastra',
    title: 'Mastra',
    frameworks: ['@mastra/core'],
    line: 'actlog.install();',
  },
  {
    package: '@actlog/mcp',
    title: 'the MCP SDK or FastMCP',
    frameworks: [
      '@modelcontextprotocol/sdk',
      '@modelcontextprotocol/client',
      '@modelcontextprotocol/server',
      'fastmcp',
    ],
    line: "const client = actlog(new Client({ name: 'agent', version: '1.0.0' }));\nconst server = actlog(new McpServer({ name: 'accounts', version: '1.0.0' }));",
  },
  {
    package: '@actlog/openai',
    title: 'the OpenAI SDK',
    frameworks: ['openai'],
    line: 'const runner = client.chat.completions.runTools({ model, messages, tools: actlog(tools) });',
  },
  {
    package: '@actlog/openai-agents',
    title: 'the OpenAI Agents SDK',
    frameworks: ['@openai/agents'],
    line: 'actlog(agent);',
  },
  {
    package: '@actlog/opencode',
    title: 'opencode',
    frameworks: ['@opencode-ai/plugin'],
    line: 'export const recorded: Plugin = (input) => actlog(input);',
  },
  {
    package: '@actlog/opentelemetry',
    title: 'OpenTelemetry',
    frameworks: ['@opentelemetry/sdk-trace-base'],
    line: 'const provider = new NodeTracerProvider({ spanProcessors: [actlog()] });',
  },
  {
    package: '@actlog/pi-agent-core',
    title: 'pi',
    frameworks: ['@earendil-works/pi-agent-core', '@mariozechner/pi-agent-core'],
    line: 'const agent = actlog(new Agent({ initialState: { model, tools }, streamFn }));',
  },
  {
    package: '@actlog/strands',
    title: 'Strands Agents',
    frameworks: ['@strands-agents/sdk'],
    line: 'actlog.install();',
  },
] as const satisfies readonly Adapter[];

/** Integration for loops that the user wrote over a provider without an adapter. */
export const loop = {
  package: '@actlog/recorder/loop',
  title: 'a loop of your own',
  frameworks: ['@aws-sdk/client-bedrock-runtime', '@mistralai/mistralai', 'ollama'],
  line: 'const runCalls = actlog(functions);',
} as const satisfies Adapter;

/** A package manager and its commands. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun';
  /** Command that adds packages, to be followed by their names. */
  readonly add: string;
  /** Command that removes needless copies of packages. */
  readonly dedupe: string;
  /** Command that runs the command of a package, to be followed by its name. */
  readonly execute: string;
}

const managers = {
  npm: { name: 'npm', add: 'npm install', dedupe: 'npm dedupe', execute: 'npx' },
  pnpm: { name: 'pnpm', add: 'pnpm add', dedupe: 'pnpm dedupe', execute: 'pnpm dlx' },
  yarn: { name: 'yarn', add: 'yarn add', dedupe: 'yarn dedupe', execute: 'yarn dlx' },
  bun: { name: 'bun', add: 'bun add', dedupe: 'bun install --force', execute: 'bunx' },
} as const satisfies Record<string, PackageManager>;

const lockfiles: Readonly<Record<string, keyof typeof managers>> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
};

/**
 * Returns the package manager of a project: from the nearest lockfile, then from `packageManager` of the nearest
 * package.json, otherwise npm. The lockfile of a monorepo is in a folder above.
 */
export function packageManagerOf(dir: string): PackageManager {
  let named: keyof typeof managers | undefined;
  for (let folder = dir; ; folder = dirname(folder)) {
    const lockfile = Object.keys(lockfiles).find((file) => existsSync(join(folder, file)));
    if (lockfile !== undefined) return managers[lockfiles[lockfile] as keyof typeof managers];
    named ??= namedManager(folder);
    if (dirname(folder) === folder) return managers[named ?? 'npm'];
  }
}

function namedManager(folder: string): keyof typeof managers | undefined {
  try {
    const manifest = JSON.parse(decodeText(readFileSync(join(folder, 'package.json'))));
    const [name = ''] = String(manifest.packageManager ?? '').split('@');
    return Object.hasOwn(managers, name) ? (name as keyof typeof managers) : undefined;
  } catch {
    return undefined;
  }
}
