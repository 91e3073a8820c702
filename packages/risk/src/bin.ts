#!/usr/bin/env node
import { stdout } from 'node:process';
import { riskCommand } from './command.ts';

await riskCommand((text) => stdout.write(text)).parseAsync();
