import { mkdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { approveAll, CopilotClient, defineTool, type PermissionHandler } from '@github/copilot-sdk';
import { Model, type ModelCall } from '../../../testing/opencode/tests/model.ts';
import { type InstallHookOptions, installHook } from '../src/index.ts';
import { actlogScript } from './actlog-script.ts';

/** A run of the real Copilot, whose model is scripted. */
export interface CopilotRun {
  /** Variables of the process, with its home. */
  readonly environment: Record<string, string>;
  readonly turns: readonly (readonly ModelCall[])[];
  readonly hook: InstallHookOptions;
  /** Decides what the user permits; default: everything. */
  readonly onPermissionRequest?: PermissionHandler;
  readonly onSession?: (sessionId: string) => void;
}

/** End of a run. */
export interface EndedCopilotRun {
  readonly sessionId: string;
  /** Results of tools that the model was sent. */
  readonly results: readonly string[];
}

/** Tools of the program that uses the SDK. */
const tools = [
  defineTool('lookup', { description: 'Looks up a user.', handler: async () => 'found' }),
  defineTool('broken', {
    description: 'Fails.',
    handler: async () => {
      throw new Error('out of order');
    },
  }),
];

/** Returns `true` if Copilot is installed: its program is an optional part of the package. */
export function copilotRuns(): boolean {
  const { platform, arch } = process;
  const sdk = realpathSync(join(import.meta.dirname, '../node_modules/@github/copilot-sdk'));
  const modules = createRequire(join(sdk, 'package.json'));
  try {
    modules.resolve(`@github/copilot-sdk-${platform}-${arch}/package.json`);
    return true;
  } catch {
    return false;
  }
}

/** Runs Copilot by its SDK, with the hook in its settings. */
export async function runCopilot(run: CopilotRun): Promise<EndedCopilotRun> {
  const { environment, turns, hook, onPermissionRequest = approveAll, onSession } = run;
  const home = String(environment.HOME);
  mkdirSync(join(home, '.copilot'));
  installHook('copilot', { homeFolder: home, script: actlogScript, ...hook });
  const model = await Model.start({ GO: turns });
  const client = new CopilotClient({ useLoggedInUser: false, logLevel: 'none', env: environment });
  try {
    await client.start();
    const session = await client.createSession({
      model: 'm',
      provider: { type: 'openai', baseUrl: model.url, apiKey: 'none' },
      streaming: true,
      workingDirectory: home,
      onPermissionRequest,
      tools,
    });
    onSession?.(session.sessionId);
    await session.sendAndWait({ prompt: 'GO' });
    await session.disconnect();
    return { sessionId: session.sessionId, results: [...model.toolResults] };
  } finally {
    await client.stop();
    await model.close();
  }
}
