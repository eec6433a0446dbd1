/* Loaded before the C library: nothing is ever on the disk when it is asked to be. */
int fsync(int file)
{
	(void)file;
	return 0;
}

int fdatasync(int file)
{
	(void)file;
	return 0;
}
