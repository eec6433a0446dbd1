# Makes r.csv: values of R 4.2 with lme4, coin, car and multcomp, against which the tests hold the
# crate. Run in this folder: Rscript reference.R > r.csv
suppressMessages({ library(lme4); library(coin); library(car); library(multcomp) })
row <- function(name, value) for (i in seq_along(value)) {
  label <- if (length(value) > 1) paste0(name, ".", i) else name
  cat(sprintf("%s,%.17g\n", label, value[i]))
}
read <- function(file) {
  d <- read.csv(file.path("..", "designs", file))
  for (column in c("block", "A", "B", "F")) d[[column]] <- factor(d[[column]])
  d
}
options(contrasts = c("contr.sum", "contr.poly"))
full <- read("factorial_2x2x2_6blocks.csv")
part <- read("factorial_unbalanced.csv")
terms <- c("A", "B", "F", "A:B", "A:F", "B:F", "A:B:F")
tables <- function(name, data, formula, terms) {
  model <- lm(formula, data)
  for (type in 2:3) {
    table <- Anova(model, type = type)
    for (term in terms) row(sprintf("%s.type%d.%s", name, type, term),
                            c(table[term, "Sum Sq"], table[term, "F value"], table[term, "Pr(>F)"]))
  }
  model
}
invisible(tables("balanced", full, y ~ block + A * B * F, terms))
m <- tables("unbalanced", part, y ~ block + A * B * F, terms)
s <- summary(m)$coefficients
# With two levels coded 1 and -1 the step from level 1 to level 0 is twice the coefficient.
row("unbalanced.effect.A", 2 * c(s["A1", 1], s["A1", 2]))
row("unbalanced.effect.AB", 4 * c(s["A1:B1", 1], s["A1:B1", 2]))
for (name in c("balanced", "unbalanced")) {
  data <- if (name == "balanced") full else part
  fit <- lmer(y ~ A * B * F + (1 | block), data, control = lmerControl(optCtrl = list(
    xtol_rel = 1e-14, xtol_abs = 1e-14, ftol_abs = 1e-15), calc.derivs = FALSE))
  v <- as.data.frame(VarCorr(fit))$vcov
  s <- summary(fit)$coefficients
  row(paste0("reml.", name, ".variances"), v)
  row(paste0("reml.", name, ".A"), 2 * s["A1", 1:2])
  row(paste0("reml.", name, ".loglik"), as.numeric(logLik(fit)))
}
# The restricted likelihood of lme4 depends on the coding through det(X'X); the coding is ours.
split <- summary(aov(y ~ block + A * B * F + Error(interaction(block, A)), full))
for (stratum in 1:2) {
  table <- split[[stratum]][[1]]
  for (term in trimws(rownames(table))) {
    line <- table[trimws(rownames(table)) == term, ]
    row(sprintf("split.%d.%s", stratum, term), unlist(line[!is.na(line)]))
  }
}
read_numbers <- function(name) scan(file.path("..", "turboboost", paste0(name, ".txt")), quiet = TRUE)
x <- read_numbers("x")
for (name in c("plus", "star", "pct", "hash", "at")) {
  y <- read_numbers(name)
  w <- t.test(y, x)
  row(paste0("welch.", name), c(w$statistic, w$parameter, w$p.value, w$conf.int))
  p <- t.test(y, x, var.equal = TRUE)
  row(paste0("student.", name), c(p$statistic, p$p.value, p$conf.int))
}
# Rank tests with ties, counted.
a <- c(1, 2, 2, 3, 5, 5, 5, 8); b <- c(2, 3, 5, 6, 7, 9, 9)
exact <- function(a, b) {
  d <- data.frame(v = c(a, b), g = factor(rep(c("a", "b"), c(length(a), length(b)))))
  pvalue(wilcox_test(v ~ g, d, distribution = "exact"))
}
row("mann_whitney.ties", as.numeric(exact(a, b)))
row("mann_whitney.star_plus", as.numeric(exact(read_numbers("star"), read_numbers("plus"))))
d <- c(0.5, -0.5, 1.5, 2, -1, 2, 3, 0.5, 2.5, -1.5)
z <- data.frame(y = d, o = 0)
row("signed_rank.ties", as.numeric(pvalue(wilcoxsign_test(y ~ o, z, distribution = "exact", zero.method = "Wilcoxon"))))
set.seed(1)
long_a <- round(rnorm(40, 10, 2), 1); long_b <- round(rnorm(35, 11, 2), 1)
row("long_a", long_a); row("long_b", long_b)
row("mann_whitney.long", wilcox.test(long_b, long_a, exact = FALSE, correct = TRUE)$p.value)
# Without ties the intervals are exact.
u <- c(1.1, 2.3, 3.7, 4.2, 5.9, 6.4, 7.8); v <- c(2.05, 4.45, 6.65, 8.15, 9.35, 11.85)
h <- wilcox.test(v, u, conf.int = TRUE)
row("hodges_lehmann", c(h$estimate, h$conf.int, h$p.value))
h <- wilcox.test(c(1.1, 2.3, -0.7, 4.2, 5.9, 6.4, 7.8, -0.3), conf.int = TRUE)
row("signed_rank.interval", c(h$estimate, h$conf.int, h$p.value))
# Many comparisons.
six <- data.frame(v = c(x, sapply(c("plus", "star", "pct", "hash", "at"), read_numbers)),
                  g = factor(rep(c("x", "plus", "star", "pct", "hash", "at"), each = 8),
                             levels = c("x", "plus", "star", "pct", "hash", "at")))
hsd <- TukeyHSD(aov(v ~ g, six))$g
row("tukey.at-hash", hsd["at-hash", ]); row("tukey.star-plus", hsd["star-plus", ])
three <- data.frame(v = c(5.1, 4.7, 5.3, 4.9, 5.6, 5.4, 6.1, 5.2, 6.0, 5.0, 5.8, 6.3, 5.9),
                    g = factor(rep(c("a", "b", "c"), c(4, 3, 6))))
options(contrasts = c("contr.treatment", "contr.poly"))
set.seed(1)
g <- glht(aov(v ~ g, three), mcp(g = "Dunnett"))
s <- summary(g, test = adjusted("single-step", abseps = 1e-8, maxpts = 5e6))
row("dunnett.t", as.numeric(s$test$tstat)); row("dunnett.p", as.numeric(s$test$pvalues))
contrasts(six$g) <- "contr.treatment"
g <- glht(aov(v ~ g, six), mcp(g = "Dunnett"))
s <- summary(g, test = adjusted("single-step", abseps = 1e-9, maxpts = 2e7))
row("dunnett.pct", c(s$test$tstat["pct - x"], s$test$pvalues[3]))
hsd <- TukeyHSD(aov(v ~ g, three))$g
row("tukey.kramer.c-a", hsd["c-a", ])
row("power.paired", c(power.t.test(20, 0.5, type = "paired", strict = TRUE)$power, power.t.test(6, 2, type = "paired", strict = TRUE)$power))
