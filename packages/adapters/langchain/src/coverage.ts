import { ProcessCoverage } from '@actlog/recorder/adapter';

/** Recorders of `actlog.install()`. */
export const processCoverage: ProcessCoverage = new ProcessCoverage('@actlog/langchain/installed');
