import { gatewayCommand } from '@actlog/gateway';

await gatewayCommand().parseAsync(process.argv.slice(2), { from: 'user' });
