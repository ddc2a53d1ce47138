insert into measurements (name, path, part, content) values (%(name)s, %(path)s, %(part)s, %(content)s)
