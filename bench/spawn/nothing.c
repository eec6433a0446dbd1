/* The shortest program: it ends. Linked statically, it needs no loader. */

int
main(void)
{
	return (0);
}
