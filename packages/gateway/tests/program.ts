// The command `actlog gateway`, from the sources.
import { gatewayCommand } from '../src/index.ts';

try {
  await gatewayCommand().parseAsync(process.argv.slice(2), { from: 'user' });
} catch (error) {
  process.exitCode = 2;
  if (!(error as { code?: string }).code?.startsWith('commander.')) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
