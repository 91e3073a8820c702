import { gatewayCommand } from '../src/index.ts';

/** Runs `actlog gateway` with arguments, and sets the exit code of the process. */
export async function runProgram(args: readonly string[]): Promise<void> {
  try {
    await gatewayCommand().parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = 2;
    if (!(error as { code?: string }).code?.startsWith('commander.')) {
      process.stderr.write(`${(error as Error).message}\n`);
      process.exitCode = 1;
    }
  }
}
