// Compares the public API of every package with its committed report, one file per entry point, and fails on a
// difference. `--write` updates the reports.
import { existsSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { type Package, publishedPackages, root } from './workspace.ts';

const write = process.argv.includes('--write');
const temporary = join(root, 'temp', 'api-report');

/** Compares the reports of a package, or writes them, and returns the number of those that differ. */
function reportsOf({ folder, manifest }: Package): number {
  let changed = 0;
  const reports = join(folder, 'api-report');
  mkdirSync(reports, { recursive: true });
  for (const [entry, target] of Object.entries(manifest.exports)) {
    const declarations = join(folder, String(target.types));
    const name = entry === '.' ? 'index' : entry.slice(2).replaceAll('/', '-');
    const config = ExtractorConfig.prepare({
      configObjectFullPath: join(folder, 'api-extractor.json'),
      packageJsonFullPath: join(folder, 'package.json'),
      configObject: {
        projectFolder: folder,
        mainEntryPointFilePath: declarations,
        compiler: {
          overrideTsconfig: {
            extends: join(root, 'tsconfig.base.json'),
            compilerOptions: { customConditions: [] },
            files: [declarations],
          },
        },
        apiReport: {
          enabled: true,
          reportFileName: name,
          reportFolder: reports,
          reportTempFolder: temporary,
        },
        docModel: { enabled: false },
        dtsRollup: { enabled: false },
        tsdocMetadata: { enabled: false },
        newlineKind: 'lf',
        messages: {
          extractorMessageReporting: {
            default: { logLevel: ExtractorLogLevel.Warning },
            // LangChain publishes one of its declarations as a source file.
            'ae-wrong-input-file-type': { logLevel: ExtractorLogLevel.None },
            'ae-missing-release-tag': { logLevel: ExtractorLogLevel.None },
            // A field may need no comment. Exported symbols are documented, and reviewed.
            'ae-undocumented': { logLevel: ExtractorLogLevel.None },
            'ae-forgotten-export': { logLevel: ExtractorLogLevel.Warning, addToApiReportFile: true },
          },
          tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        },
      },
    });
    const result = Extractor.invoke(config, {
      localBuild: write,
      showVerboseMessages: false,
      messageCallback: (message) => {
        // The lines below are shorter.
        if (message.messageId.startsWith('console-')) message.logLevel = ExtractorLogLevel.None;
      },
    });
    const report = join(reports, `${name}.api.md`);
    if (result.apiReportChanged || !existsSync(report)) {
      changed += 1;
      console.log(`${write ? 'written' : 'changed'}  ${relative(root, report)}`);
    }
  }
  return changed;
}

/** Handles every nth package in a thread of its own, and returns the number of reports that differ. */
function inThread(part: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), workerData: part });
    thread.once('message', resolve).once('error', reject);
  });
}

const threads = availableParallelism();
if (!isMainThread) {
  const packages = publishedPackages().filter((_one, index) => index % threads === workerData);
  parentPort?.postMessage(packages.reduce((sum, one) => sum + reportsOf(one), 0));
} else {
  mkdirSync(temporary, { recursive: true });
  const counts = await Promise.all(Array.from({ length: threads }, (_, part) => inThread(part)));
  const changed = counts.reduce((sum, count) => sum + count, 0);
  if (changed > 0 && !write) {
    console.error(
      `${changed} API report(s) differ from the built packages: compare them with temp/api-report/.`,
    );
    process.exitCode = 1;
  } else {
    console.log(`API reports: ${changed === 0 ? 'all as committed' : `${changed} written`}.`);
  }
}
